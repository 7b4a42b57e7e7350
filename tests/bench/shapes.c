/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_shapes SECONDS FILE...: opens each ONNX file and infers all its shapes, again and again for so many
 * seconds of CPU time, in one process.  A line each: the microseconds of one time, those of opening alone, nodes, the
 * file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <vram/vram.h>

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Nodes, or −1 with the error printed. */
static int64_t once(const char *path, double *opening)
{
    double begun = cpu();
    vram_graph *graph;
    vram_shapes *shapes;
    vram_error e;
    if (vram_graph_open(&graph, path, NULL, &e)) {
        fprintf(stderr, "%s: %s\n", path, e.text);
        return -1;
    }
    *opening += cpu() - begun;
    vram_graph_view view = {.size = sizeof view};
    vram_graph_get(graph, &view);
    int code = vram_shapes_infer(&shapes, graph, NULL, &e);
    if (code)
        fprintf(stderr, "%s: %s\n", path, e.text);
    else
        vram_shapes_free(shapes);
    vram_graph_free(graph);
    return code ? -1 : (int64_t)view.nodes;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
    for (int i = 2; i < argc; i++) {
        double opening = 0;
        int64_t nodes = once(argv[i], &opening); /* the first time fills caches */
        double begun = cpu(), spent = 0;
        unsigned n = 0;
        opening = 0;
        for (; nodes >= 0 && (n == 0 || spent < seconds); n++) {
            once(argv[i], &opening);
            spent = cpu() - begun;
        }
        if (nodes >= 0)
            printf("%.2f %.2f %" PRId64 " %s\n", spent / n * 1e6, opening / n * 1e6, nodes, argv[i]);
    }
    return 0;
}
