/* SPDX-License-Identifier: Apache-2.0
 *
 * The timeline as a picture: one bar a phase, stacked by what the bytes are at the phase's highest
 * moment, the peak marked, a line where the card ends.  One self-contained SVG for light and dark
 * pages; every length is in integer pixels.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "output/output.h"
#include "output/phases.h"

enum { WIDTH = 860, LEFT = 180, BARS = 560, TOP = 84, ROW = 24, BAR = 16, BOTTOM = 40 };

static const struct { const char *name, *class; } parts[PHASE_PARTS] = {
    [PHASE_PARAMETERS] = {"parameters", "p"},
    [PHASE_OPTIMIZER] = {"optimizer", "o"},
    [PHASE_GRADIENTS] = {"gradients", "g"},
    [PHASE_ACTIVATIONS] = {"kept for backward", "a"},
    [PHASE_OTHER] = {"temporaries, inputs", "t"}};

/* Colours that people who do not see red and green apart can tell, on white and on black. */
static const char style[] =
    "<style>\n"
    "text{font:12px ui-sans-serif,system-ui,-apple-system,'Segoe UI',sans-serif;fill:#24292f}\n"
    ".h{font-size:15px;font-weight:600}.r{text-anchor:end}.b{font-weight:600}.f{fill:#57606a}\n"
    ".p{fill:#0072b2}.o{fill:#56b4e9}.g{fill:#e69f00}.a{fill:#d55e00}.t{fill:#999999}\n"
    ".m{fill:none;stroke:#24292f;stroke-width:1.5}\n"
    ".l{stroke:#57606a;stroke-width:1;stroke-dasharray:4 3}\n"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.f{fill:#9198a1}\n"
    ".m{stroke:#e6edf3}.l{stroke:#9198a1}}\n"
    "</style>\n";

/* At most `most` characters of text, as XML. */
static void put_text(struct page *page, const char *text, size_t most)
{
    char shown[512];
    page_escape(shown, sizeof shown, text);
    size_t n = strlen(shown);
    const char *from = n > most ? shown + n - most : shown;
    while ((*from & 0xc0) == 0x80)
        from++;
    page_put(page, n > most ? "…" : "");
    for (; *from; from++) {
        const char *entity = *from == '<' ? "&lt;" : *from == '>' ? "&gt;" : *from == '&' ? "&amp;"
                             : *from == '"' ? "&quot;" : NULL;
        if (entity)
            page_put(page, entity);
        else
            page_write(page, from, 1);
    }
}

static void begin_text(struct page *page, int x, int y, const char *class)
{
    page_printf(page, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, class);
}

/* The path's last part and what was asked for. */
static void headline(struct page *page, const struct prediction *p)
{
    char line[512];
    size_t used = (size_t)snprintf(line, sizeof line, "%.100s", output_title(p->path));
    for (size_t i = 0; i < vram_setting_count(); i++) {
        vram_setting_view s = {.size = sizeof s};
        vram_setting(i, &s);
        const char *given = vram_plan_get(p->plan, s.key);
        if (given && used + 100 < sizeof line)
            used += (size_t)snprintf(line + used, sizeof line - used, "  %.40s=%.50s", s.key,
                                     given);
    }
    begin_text(page, 16, 26, "h");
    put_text(page, line, 100);
    page_put(page, "</text>\n");
}

static void title(struct page *page, const struct prediction *p, const vram_report_view *v,
                  struct scale scale)
{
    static const char *const verdicts[] = {
        [VRAM_FITS] = "fits ", [VRAM_TIGHT] = "tight on ", [VRAM_DOES_NOT_FIT] = "does not fit ",
        [VRAM_CANNOT_TELL] = "cannot tell for ", [VRAM_NO_GPU] = "no card named"};
    char peak[UNITS_TEXT], line[256];
    headline(page, p);
    snprintf(line, sizeof line, "peak %s %s of GPU memory in %s; %s%s",
             scale_text(scale, v->device.expected, peak), scale.name, v->peak_phase,
             verdicts[v->verdict], v->gpu);
    begin_text(page, 16, 46, "f");
    put_text(page, line, 120);
    page_put(page, "</text>\n");
    for (int i = 0, x = 16; i < PHASE_PARTS; i++) {
        page_printf(page, "<rect x=\"%d\" y=\"58\" width=\"11\" height=\"11\" class=\"%s\"/>", x,
                    parts[i].class);
        begin_text(page, x + 16, 68, "f");
        page_printf(page, "%s</text>\n", parts[i].name);
        x += 40 + 7 * (int)strlen(parts[i].name);
    }
}

static int pixels(uint64_t bytes, uint64_t whole)
{
    return (int)((double)bytes / (double)whole * BARS + 0.5);
}

static void bar(struct page *page, const struct phase_line *l, int y, uint64_t whole,
                struct scale scale)
{
    char text[UNITS_TEXT];
    uint64_t sum = 0;
    begin_text(page, LEFT - 8, y + 13, l->owner ? "r b" : "r");
    put_text(page, l->label, 24);
    page_put(page, "</text>");
    for (int i = 0; i < PHASE_PARTS; i++) {
        int from = pixels(sum, whole), to = pixels(sum + l->parts[i], whole);
        sum += l->parts[i];
        if (to > from)
            page_printf(page, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"%s\"/>",
                        LEFT + from, y, to - from, BAR, parts[i].class);
    }
    if (l->owner)
        page_printf(page,
                    "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\" class=\"m\"/>",
                    LEFT - 2, y - 2, pixels(l->peak, whole) + 4, BAR + 4);
    begin_text(page, LEFT + pixels(l->peak, whole) + 8, y + 13, l->owner ? "b" : "f");
    page_printf(page, "%s%s</text>\n", scale_text(scale, l->peak, text), l->owner ? " peak" : "");
}

int output_svg(struct page *page, const struct prediction *p)
{
    struct phases t;
    vram_report_view v = {.size = sizeof v};
    vram_error e;
    char text[UNITS_TEXT];
    vram_report_get(p->report, &v);
    phases_read(&t, p->report, v.peak_phase);
    if (phases_divide(&t, p->model, p->plan, &e))
        return cli_fail_library(cli_exit_of(&e), p->path, &e);
    struct scale scale = scale_for(t.highest);
    bool card = v.gpu_capacity && v.gpu_capacity < 2 * t.highest;
    uint64_t whole = card && v.gpu_capacity > t.highest ? v.gpu_capacity : t.highest;
    int height = TOP + ROW * (int)t.n + BOTTOM, foot = TOP + ROW * (int)t.n;
    page_printf(page,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\" role=\"img\">\n",
                WIDTH, height, WIDTH, height);
    page_write(page, style, sizeof style - 1);
    title(page, p, &v, scale);
    for (size_t i = 0; i < t.n; i++)
        bar(page, &t.lines[i], TOP + ROW * (int)i, whole, scale);
    if (card) {
        int x = LEFT + pixels(v.gpu_capacity, whole);
        page_printf(page, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"l\"/>", x, TOP - 6,
                    x, foot);
        begin_text(page, x, foot + 14, x > LEFT + BARS / 2 ? "f r" : "f");
        page_printf(page, "%s: %s %s</text>\n", v.gpu, scale_text(scale, v.gpu_capacity, text),
                    scale.name);
    }
    begin_text(page, 16, height - 10, "f");
    page_printf(page, "%s of the framework's tensors at the highest moment of each phase</text>\n",
                scale.name);
    page_put(page, "</svg>\n");
    return CLI_DONE;
}
