# SPDX-License-Identifier: Apache-2.0
"""What the command says about itself: `vramcast list TABLE --format json`, read once each."""
import json
import subprocess


class Command:
    """Its commands with their options and the words these take; any table by name."""

    def __init__(self, vramcast):
        self.vramcast = vramcast
        self.version = self._say("--version").split()[1]
        self.commands = self.table("commands")
        words = self.table("choices")
        for command in self.commands:
            command["flags"] = [f for f in self.table("flags") if f["command"] == command["name"]]
            for flag in command["flags"]:
                flag["choices"] = [w["word"] for w in words
                                   if (w["command"], w["option"]) == (command["name"], flag["option"])]

    def _say(self, *words):
        return subprocess.run([self.vramcast] + list(words), capture_output=True, text=True, check=True).stdout

    def table(self, name):
        return json.loads(self._say("list", name, "--format", "json"))["rows"]

    def tables(self):
        return [t["name"] for t in json.loads(self._say("list", "--format", "json"))["tables"]]


def choices(setting):
    """Words that a setting takes; none for numbers, texts and lists."""
    if setting["type"] == "switch":
        return ["on", "off"]
    return setting["values"].split() if setting["type"] == "choice" else []
