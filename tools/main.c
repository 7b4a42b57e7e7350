#include <stdio.h>
#include <string.h>
#include <vram/vram.h>
static int out(void *c, const char *t, size_t n) { (void)c; return fwrite(t, 1, n, stdout) != n; }
int main(int argc, char **argv)
{
    vram_error e; vram_model *m; vram_plan *p; vram_report *r; vram_open_options o = {.size = sizeof o};
    if (argc < 3) return 2;
    if (vram_plan_create(&p, &e)) return 5;
    for (int i = 3; i < argc; i++) {
        if (!strncmp(argv[i], "--templates=", 12)) { o.templates_dir = argv[i] + 12; continue; }
        char *v = strchr(argv[i], '='); if (!v) continue; *v = 0;
        if (vram_plan_set(p, argv[i], v + 1, &e)) { fprintf(stderr, "vramcast: %s\n", e.text); return 2; }
    }
    if (vram_model_open(&m, argv[2], &o, &e)) { fprintf(stderr, "vramcast: %s: %s (offset %llu)\n", e.where, e.text, (unsigned long long)e.offset); return 3; }
    if (vram_predict(&r, m, p, &e)) { fprintf(stderr, "vramcast: %s: %s\n", e.where, e.text); return 3; }
    vram_report_json(r, out, NULL, &e);
    vram_report_free(r); vram_model_free(m); vram_plan_free(p);
    return 0;
}
