# SPDX-License-Identifier: Apache-2.0
"""man.py VRAMCAST MAN1 MAN7: manual pages from the command's own tables, so that they cannot be behind it.

MAN1 gets vramcast.1 and a page for each command, MAN7 the settings and the findings.
"""
import os
import re
import sys

from tables import Command

EXITS = [("0", "an answer was given; it fits"), ("1", "it does not fit (check, fit)"),
         ("2", "wrong usage: an unknown command, option, setting or card, or a value out of its range"),
         ("3", "a file is bad or missing; with \\-\\-strict a model with a warning"),
         ("4", "an answer was given, but its peak is unknown"),
         ("5", "out of memory, or the answer could not be written"), ("130", "scan was interrupted")]


def roff(text):
    """Text that troff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    text = text.replace("…", "...").replace("×", "x")
    return re.sub(r"(?m)^\.", "\\\\&.", text)


class Page:
    def __init__(self, folder, name, section, version, what):
        self.path = os.path.join(folder, "%s.%d" % (name, section))
        self.lines = ['.TH %s %d "" "vramcast %s" "vramcast"' % (roff(name.upper()), section, version)]
        self.part("name", "%s \\- %s" % (roff(name), roff(what)))

    def part(self, title, *lines):
        self.lines += ['.SH "%s"' % title.upper(), *lines]

    def item(self, tag, *lines):
        self.lines += [".TP", tag, *lines]

    def close(self):
        with open(self.path, "w", encoding="utf-8") as f:
            f.write("\n".join(self.lines) + "\n")



def option_tag(flag):
    value = " \\fI%s\\fR" % roff(flag["value"]) if flag["value"] else ""
    letter = "\\fB\\-%s\\fR, " % flag["letter"] if flag["letter"] else ""
    return "%s\\fB\\-\\-%s\\fR%s" % (letter, roff(flag["option"]), value)


def see_also(page, names):
    page.part("see also", ",\n".join("\\fB%s\\fR(%d)" % (roff(n), s) for n, s in names))


def command_page(folder, c, command):
    page = Page(folder, "vramcast-" + command["name"], 1, c.version, command["help"])
    page.part("synopsis", "\\fBvramcast %s\\fR [options] %s" % (command["name"], roff(command["words"])))
    page.part("description", roff(command["more"].rstrip("\n")) or roff(command["help"]))
    page.part("options")
    for flag in command["flags"]:
        words = ["One of \\fB%s\\fR." % "\\fR, \\fB".join(roff(w) for w in flag["choices"])] \
            if flag["choices"] else []
        page.item(option_tag(flag), roff(flag["help"]) + ("." if words else ""), *words)
    see_also(page, [("vramcast", 1), ("vramcast-settings", 7)])
    page.close()


def main_page(folder, c):
    page = Page(folder, "vramcast", 1, c.version, "peak GPU memory, predicted from a model's files")
    page.part("synopsis", "\\fBvramcast\\fR \\fICOMMAND\\fR [options] ...")
    page.part("description", "Predicts how much memory training or inference of a model takes on a card: the",
              "framework's steps are run without data. Only headers of files are read.")
    page.part("commands")
    for command in c.commands:
        page.item("\\fB%s\\fR %s" % (command["name"], roff(command["words"])), roff(command["help"]))
    page.part("exit status")
    for code, what in EXITS:
        page.item(code, what)
    page.part("environment")
    page.item("\\fBNO_COLOR\\fR", "no colours on a terminal")
    see_also(page, [("vramcast-" + x["name"], 1) for x in c.commands] +
             [("vramcast-settings", 7), ("vramcast-findings", 7)])
    page.close()


def settings_page(folder, c):
    page = Page(folder, "vramcast-settings", 7, c.version, "settings of a plan: key=value words")
    page.part("description", "Words of \\fBvramcast predict\\fR, \\fBcheck\\fR, \\fBfit\\fR, \\fBexplain\\fR and "
              "\\fBscan\\fR,", "keys of \\-\\-plan files, and what \\-\\-settings files set.")
    page.part("settings")
    for row in c.table("settings"):
        page.item("\\fB%s\\fR" % roff(row["key"]), roff(row["help"]) + ".")
        page.lines += [".br", roff("%s: %s" % (row["type"], row["values"]) if row["values"] else row["type"]) + "."]
        if row["default"]:
            page.lines += ["Default: %s." % roff(row["default"])]
    see_also(page, [("vramcast", 1)])
    page.close()


def findings_page(folder, c):
    page = Page(folder, "vramcast-findings", 7, c.version, "everything that an answer may remark")
    page.part("findings")
    for row in c.table("findings"):
        page.item("\\fB%s\\fR %s (%s)" % (roff(row["id"]), roff(row["name"]), roff(row["severity"])),
                  roff(row["meaning"]) + ".")
    see_also(page, [("vramcast", 1)])
    page.close()


def main():
    vramcast, man1, man7 = sys.argv[1:]
    for folder in (man1, man7):
        os.makedirs(folder, exist_ok=True)
        for old in os.listdir(folder):
            os.remove(os.path.join(folder, old))
    c = Command(vramcast)
    main_page(man1, c)
    for command in c.commands:
        command_page(man1, c, command)
    settings_page(man7, c)
    findings_page(man7, c)


main()
