/* SPDX-License-Identifier: Apache-2.0
 *
 * Cards: what torch reports as their total memory (always below nvidia-smi's figure) and what a
 * CUDA context takes of it before the first tensor.
 *
 * `source` says how the total is known.  "measured": printed by a run on that card; "measured
 * value, card inferred": found in an out-of-memory message that does not name the card;
 * "recalled": commonly reported, not looked up again; "derived": nvidia-smi's total less 200 MiB
 * and 0.3 %, a rule that is right to about 200 MiB on measured cards.  The number of
 * multiprocessors is that of the card as sold; 0 where we are not sure, and for other makers.
 */
#include "tables/tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "plan/suggest.h"

const struct vram_gpu_row vram_gpus[] = {
    {"p100-16g", "Tesla P100 16GB", "Tesla P100-PCIE-16GB;Tesla P100-SXM2-16GB;p100", "Pascal", 60,
     56, UINT64_C(17070817280), "measured", 200, 350, 600},
    {"p40-24g", "Tesla P40", "p40", "Pascal", 61, 30, UINT64_C(24032313344), "recalled", 200, 350,
     600},
    {"p4-8g", "Tesla P4", "p4", "Pascal", 61, 20, UINT64_C(7980711936), "recalled", 200, 350, 600},
    {"v100-16g", "Tesla V100 SXM2 16GB", "", "Volta", 70, 80, UINT64_C(16913530880), "measured",
     200, 350, 600},
    {"v100-pcie-16g", "Tesla V100 PCIe 16GB", "", "Volta", 70, 80, UINT64_C(16944988160),
     "measured", 200, 350, 600},
    {"v100-32g", "Tesla V100 SXM2 32GB", "Tesla V100-SXM3-32GB", "Volta", 70, 80,
     UINT64_C(34070331392), "measured value, card inferred (31.73 GiB printed)", 200, 350, 600},
    {"v100-pcie-32g", "Tesla V100 PCIe 32GB", "Tesla V100S-PCIE-32GB", "Volta", 70, 80,
     UINT64_C(34089205760), "recalled", 200, 350, 600},
    {"t4-16g", "Tesla T4", "NVIDIA T4;t4", "Turing", 75, 40, UINT64_C(15636365312),
     "measured (14.56 GiB printed on current drivers; 15079..15109 MiB on older ones)", 100, 290,
     400},
    {"a100-pcie-40g", "A100 PCIe 40GB", "NVIDIA A100-PCIE-40GB", "Ampere", 80, 108,
     UINT64_C(42284875776), "measured", 400, 480, 920},
    {"a100-40g", "A100 SXM4 40GB", "NVIDIA A100-SXM4-40GB;a100-sxm-40g", "Ampere", 80, 108,
     UINT64_C(42297458688),
     "measured value, card inferred (39.25..39.56 GiB printed, 39.39/39.49 most common)", 400, 480,
     920},
    {"a100-80g", "A100 SXM4 80GB", "NVIDIA A100-SXM4-80GB;a100-sxm-80g", "Ampere", 80, 108,
     UINT64_C(84987084800), "measured (79.15 GiB printed; 79.14..79.35 seen)", 400, 480, 920},
    {"a100-pcie-80g", "A100 PCIe 80GB", "NVIDIA A100 80GB PCIe", "Ampere", 80, 108,
     UINT64_C(84987084800), "measured (79.15 GiB printed)", 400, 480, 920},
    {"a800-80g", "A800 SXM4 80GB", "NVIDIA A800-SXM4-80GB;NVIDIA A800 80GB PCIe;a800", "Ampere", 80,
     108, UINT64_C(84987084800), "derived", 400, 480, 920},
    {"a100-mig1g-10g", "A100 MIG 1g.10gb", "NVIDIA A100 80GB PCIe MIG 1g.10gb", "Ampere", 80, 14,
     UINT64_C(10200547328), "measured", 100, 150, 300},
    {"a30-24g", "A30", "NVIDIA A30", "Ampere", 80, 56, UINT64_C(25230835712),
     "recalled (23.50 GiB)", 300, 420, 700},
    {"a10-24g", "A10", "NVIDIA A10", "Ampere", 86, 72, UINT64_C(23686283264),
     "measured value, card inferred (22.06 GiB printed)", 250, 360, 600},
    {"a10g-24g", "A10G", "NVIDIA A10G", "Ampere", 86, 80, UINT64_C(23684186112),
     "measured (22587 new driver; 22723 older)", 250, 360, 600},
    {"a16-16g", "A16 (per GPU)", "NVIDIA A16;a16", "Ampere", 86, 10, UINT64_C(15842934784),
     "derived", 200, 350, 600},
    {"a2-16g", "A2", "NVIDIA A2", "Ampere", 86, 10, UINT64_C(15842934784), "derived", 200, 350,
     600},
    {"a40-48g", "A40", "NVIDIA A40", "Ampere", 86, 84, UINT64_C(47622127616),
     "measured (45403..45634 seen)", 300, 400, 650},
    {"l4-24g", "L4", "NVIDIA L4", "Ada", 89, 58, UINT64_C(23659020288),
     "measured value, card inferred (22.03 GiB printed)", 200, 300, 500},
    {"l20-48g", "L20", "NVIDIA L20", "Ada", 89, 92, UINT64_C(47950331904), "derived", 200, 350,
     600},
    {"l40-48g", "L40", "NVIDIA L40", "Ada", 89, 142, UINT64_C(47803531264), "derived from L40S",
     300, 450, 650},
    {"l40s-48g", "L40S", "NVIDIA L40S", "Ada", 89, 142, UINT64_C(47803531264),
     "measured (45455 = 44.39 GiB on newer drivers)", 300, 450, 650},
    {"h100-pcie-80g", "H100 PCIe 80GB", "NVIDIA H100 PCIe", "Hopper", 90, 114,
     UINT64_C(84943044608), "measured", 400, 520, 700},
    {"h100-80g", "H100 SXM5 80GB", "NVIDIA H100 80GB HBM3;h100;h100-sxm-80g", "Hopper", 90, 132,
     UINT64_C(85027979264), "measured (81082..81090; 79.19 GiB)", 450, 540, 750},
    {"h100-nvl-94g", "H100 NVL 94GB", "NVIDIA H100 NVL;h100-nvl", "Hopper", 90, 132,
     UINT64_C(99964944384), "measured value, card inferred (93.02..93.11 GiB printed)", 450, 540,
     750},
    {"h800-80g", "H800 SXM", "NVIDIA H800;NVIDIA H800 PCIe;h800", "Hopper", 90, 132,
     UINT64_C(85027979264), "derived", 450, 540, 750},
    {"h20-96g", "H20 96GB", "NVIDIA H20;h20", "Hopper", 90, 78, UINT64_C(102010716160), "measured",
     400, 500, 700},
    {"h200-141g", "H200 SXM 141GB", "NVIDIA H200;h200", "Hopper", 90, 132, UINT64_C(150109945856),
     "measured (139.72..139.81 GiB printed)", 450, 550, 800},
    {"h200-nvl-141g", "H200 NVL 141GB", "NVIDIA H200 NVL;h200-nvl", "Hopper", 90, 132,
     UINT64_C(150109945856), "derived", 450, 550, 800},
    {"gh200-96g", "GH200 96GB", "NVIDIA GH200 480GB;gh200", "Hopper", 90, 132,
     UINT64_C(101468602368), "measured value, card inferred (94.50 GiB printed)", 450, 550, 800},
    {"gh200-144g", "GH200 144GB", "NVIDIA GH200 144G HBM3e", "Hopper", 90, 132,
     UINT64_C(153291325440), "derived", 200, 350, 600},
    {"b200-180g", "B200 180GB", "NVIDIA B200;b200", "Blackwell", 100, 148, UINT64_C(191502483456),
     "measured (182631..182642; 178.35 GiB printed)", 550, 700, 1000},
    {"gb200-186g", "GB200 186GB", "NVIDIA GB200;gb200", "Blackwell", 100, 152,
     UINT64_C(197868388352), "derived", 550, 700, 1000},
    {"b300-288g", "B300 288GB", "NVIDIA B300 SXM6 AC;b300", "Blackwell", 103, 0,
     UINT64_C(287324504064), "recalled smi; total derived", 550, 750, 1100},
    {"gb300-288g", "GB300", "NVIDIA GB300", "Blackwell", 103, 0, UINT64_C(296909537280),
     "recalled smi; total derived", 550, 750, 1100},
    {"rtxpro6000-96g", "RTX PRO 6000 Blackwell Server 96GB",
     "NVIDIA RTX PRO 6000 Blackwell Server Edition;rtxpro6000;rtxpro6000-server-96g",
     "Blackwell (consumer)", 120, 188, UINT64_C(101974016000), "measured (94.97 GiB printed)", 450,
     600, 900},
    {"rtxpro6000-workstation-96g", "RTX PRO 6000 Blackwell Workstation 96GB",
     "NVIDIA RTX PRO 6000 Blackwell Workstation Edition;NVIDIA RTX PRO 6000 Blackwell Max-Q "
     "Workstation Edition;rtxpro6000-workstation",
     "Blackwell (consumer)", 120, 188, UINT64_C(101974016000), "derived", 450, 600, 900},
    {"rtxpro5000-48g", "RTX PRO 5000 Blackwell 48GB", "NVIDIA RTX PRO 5000 Blackwell;rtxpro5000",
     "Blackwell (consumer)", 120, 110, UINT64_C(50948210688), "derived", 200, 350, 600},
    {"rtxpro4500-32g", "RTX PRO 4500 Blackwell 32GB", "NVIDIA RTX PRO 4500 Blackwell;rtxpro4500",
     "Blackwell (consumer)", 120, 82, UINT64_C(33895219200), "derived", 200, 350, 600},
    {"rtxpro4000-24g", "RTX PRO 4000 Blackwell 24GB", "NVIDIA RTX PRO 4000 Blackwell;rtxpro4000",
     "Blackwell (consumer)", 120, 70, UINT64_C(25368199168), "derived", 200, 350, 600},
    {"rtxa2000-12g", "RTX A2000 12GB", "NVIDIA RTX A2000 12GB;a2000;rtxa2000", "Ampere", 86, 26,
     UINT64_C(12630097920), "derived", 200, 350, 600},
    {"rtxa4000-16g", "RTX A4000", "NVIDIA RTX A4000;a4000", "Ampere", 86, 48, UINT64_C(16909336576),
     "derived", 200, 350, 600},
    {"rtxa4500-20g", "RTX A4500", "NVIDIA RTX A4500;a4500", "Ampere", 86, 56, UINT64_C(21189623808),
     "derived", 200, 350, 600},
    {"rtxa5000-24g", "RTX A5000", "NVIDIA RTX A5000;a5000", "Ampere", 86, 64, UINT64_C(25285361664),
     "measured (24114..24138)", 250, 350, 600},
    {"rtxa5500-24g", "RTX A5500", "NVIDIA RTX A5500;a5500", "Ampere", 86, 80, UINT64_C(25469911040),
     "derived", 200, 350, 600},
    {"rtxa6000-48g", "RTX A6000", "NVIDIA RTX A6000;a6000", "Ampere", 86, 84, UINT64_C(51040485376),
     "measured", 280, 380, 650},
    {"rtx4000ada-20g", "RTX 4000 Ada", "NVIDIA RTX 4000 Ada Generation", "Ada", 89, 48,
     UINT64_C(21194866688), "derived", 200, 350, 600},
    {"rtx4500ada-24g", "RTX 4500 Ada", "NVIDIA RTX 4500 Ada Generation", "Ada", 89, 60,
     UINT64_C(25476202496), "derived", 200, 350, 600},
    {"rtx5000ada-32g", "RTX 5000 Ada", "NVIDIA RTX 5000 Ada Generation", "Ada", 89, 100,
     UINT64_C(34037825536), "derived", 200, 350, 600},
    {"rtx6000ada-48g", "RTX 6000 Ada", "NVIDIA RTX 6000 Ada Generation;6000ada", "Ada", 89, 142,
     UINT64_C(50865307648), "measured exact 50865307648 B (unsloth-zoo PR 1053)", 420, 430, 650},
    {"quadrortx5000-16g", "Quadro RTX 5000", "", "Turing", 75, 48, UINT64_C(16917725184), "derived",
     200, 350, 600},
    {"quadrortx6000-24g", "Quadro RTX 6000", "", "Turing", 75, 72, UINT64_C(25365053440),
     "recalled (23.62 GiB)", 200, 350, 600},
    {"quadrortx8000-48g", "Quadro RTX 8000", "rtx8000", "Turing", 75, 72, UINT64_C(50961842176),
     "recalled (47.46 GiB)", 200, 350, 600},
    {"titanrtx-24g", "TITAN RTX", "NVIDIA TITAN RTX", "Turing", 75, 72, UINT64_C(25396510720),
     "recalled (23.65 GiB)", 200, 350, 600},
    {"titanv-12g", "TITAN V", "NVIDIA TITAN V", "Volta", 70, 80, UINT64_C(12652118016),
     "recalled (11.78 GiB)", 250, 400, 1010},
    {"titanxp-12g", "TITAN Xp", "NVIDIA TITAN Xp", "Pascal", 61, 30, UINT64_C(12784238592),
     "recalled (11.91 GiB)", 200, 350, 600},
    {"gtx1060-6g", "GeForce GTX 1060 6GB", "NVIDIA GeForce GTX 1060 6GB;gtx1060", "Pascal", 61, 10,
     UINT64_C(6373244928), "recalled", 100, 250, 450},
    {"gtx1070-8g", "GeForce GTX 1070", "NVIDIA GeForce GTX 1070;GTX 1070", "Pascal", 61, 15,
     UINT64_C(8508145664), "recalled", 100, 250, 450},
    {"gtx1080-8g", "GeForce GTX 1080", "NVIDIA GeForce GTX 1080;GTX 1080", "Pascal", 61, 20,
     UINT64_C(8510242816), "measured", 100, 250, 450},
    {"gtx1080ti-11g", "GeForce GTX 1080 Ti", "NVIDIA GeForce GTX 1080 Ti;GTX 1080 Ti", "Pascal", 61,
     28, UINT64_C(11720982528), "measured", 100, 250, 450},
    {"gtx1660ti-6g", "GeForce GTX 1660 Ti", "NVIDIA GeForce GTX 1660 Ti;GTX 1660 Ti", "Turing", 75,
     24, UINT64_C(6441402368), "measured (Windows)", 150, 280, 450},
    {"rtx2060-6g", "GeForce RTX 2060", "NVIDIA GeForce RTX 2060;RTX 2060", "Turing", 75, 30,
     UINT64_C(6442450944), "measured (Windows)", 150, 280, 450},
    {"rtx2060-12g", "GeForce RTX 2060 12GB", "NVIDIA GeForce RTX 2060 12GB", "Turing", 75, 34,
     UINT64_C(12636389376), "derived", 150, 280, 450},
    {"rtx2070-8g", "GeForce RTX 2070", "NVIDIA GeForce RTX 2070;RTX 2070", "Turing", 75, 36,
     UINT64_C(8369733632), "recalled (7.79 GiB)", 150, 280, 450},
    {"rtx2080-8g", "GeForce RTX 2080", "NVIDIA GeForce RTX 2080;RTX 2080", "Turing", 75, 46,
     UINT64_C(8366587904), "recalled", 150, 280, 450},
    {"rtx2080super-8g", "GeForce RTX 2080 SUPER", "NVIDIA GeForce RTX 2080 SUPER;RTX 2080 SUPER",
     "Turing", 75, 48, UINT64_C(8361345024), "recalled", 150, 280, 450},
    {"rtx2080ti-11g", "GeForce RTX 2080 Ti", "NVIDIA GeForce RTX 2080 Ti;RTX 2080 Ti", "Turing", 75,
     68, UINT64_C(11554258944), "recalled (10.76 GiB)", 150, 280, 450},
    {"rtx3050-8g", "GeForce RTX 3050", "NVIDIA GeForce RTX 3050;RTX 3050", "Ampere", 86, 20,
     UINT64_C(8354004992), "derived", 230, 300, 550},
    {"rtx3060-12g", "GeForce RTX 3060", "NVIDIA GeForce RTX 3060;RTX 3060", "Ampere", 86, 28,
     UINT64_C(12510560256), "measured (11931..12044)", 230, 300, 550},
    {"rtx3060ti-8g", "GeForce RTX 3060 Ti", "NVIDIA GeForce RTX 3060 Ti;RTX 3060 Ti", "Ampere", 86,
     38, UINT64_C(8354004992), "derived", 230, 300, 550},
    {"rtx3070-8g", "GeForce RTX 3070", "NVIDIA GeForce RTX 3070;RTX 3070", "Ampere", 86, 46,
     UINT64_C(8360296448), "recalled (7.79 GiB)", 230, 300, 550},
    {"rtx3070ti-8g", "GeForce RTX 3070 Ti", "NVIDIA GeForce RTX 3070 Ti;RTX 3070 Ti", "Ampere", 86,
     48, UINT64_C(8354004992), "derived", 230, 300, 550},
    {"rtx3080-10g", "GeForce RTX 3080", "NVIDIA GeForce RTX 3080;RTX 3080", "Ampere", 86, 68,
     UINT64_C(10501488640), "recalled Linux (9.78 GiB); 10240 measured on Windows", 230, 300, 550},
    {"rtx3080-12g", "GeForce RTX 3080 12GB", "NVIDIA GeForce RTX 3080 12GB", "Ampere", 86, 70,
     UINT64_C(12636389376), "derived", 230, 300, 550},
    {"rtx3080ti-12g", "GeForce RTX 3080 Ti", "NVIDIA GeForce RTX 3080 Ti;RTX 3080 Ti", "Ampere", 86,
     80, UINT64_C(12638486528), "recalled (11.77 GiB)", 230, 300, 550},
    {"rtx3090-24g", "GeForce RTX 3090", "NVIDIA GeForce RTX 3090;RTX 3090", "Ampere", 86, 82,
     UINT64_C(25437405184), "measured (24118..24268)", 230, 300, 550},
    {"rtx3090ti-24g", "GeForce RTX 3090 Ti", "NVIDIA GeForce RTX 3090 Ti;RTX 3090 Ti", "Ampere", 86,
     84, UINT64_C(25285361664), "measured", 230, 300, 550},
    {"rtx3060-laptop-6g", "GeForce RTX 3060 Laptop GPU",
     "NVIDIA GeForce RTX 3060 Laptop GPU;RTX 3060 Laptop GPU;rtx3060-laptop", "Ampere", 86, 30,
     UINT64_C(6212812800), "derived", 230, 300, 550},
    {"rtx3070-laptop-8g", "GeForce RTX 3070 Laptop GPU",
     "NVIDIA GeForce RTX 3070 Laptop GPU;RTX 3070 Laptop GPU;rtx3070-laptop", "Ampere", 86, 40,
     UINT64_C(8354004992), "derived", 230, 300, 550},
    {"rtx3080-laptop-8g", "GeForce RTX 3080 Laptop GPU",
     "NVIDIA GeForce RTX 3080 Laptop GPU;RTX 3080 Laptop GPU;rtx3080-laptop", "Ampere", 86, 48,
     UINT64_C(8588886016), "measured (Windows)", 230, 300, 550},
    {"rtx3080ti-laptop-16g", "GeForce RTX 3080 Ti Laptop GPU",
     "NVIDIA GeForce RTX 3080 Ti Laptop GPU;RTX 3080 Ti Laptop GPU;rtx3080ti-laptop", "Ampere", 86,
     58, UINT64_C(16917725184), "derived", 230, 300, 550},
    {"rtx4060-8g", "GeForce RTX 4060", "NVIDIA GeForce RTX 4060;RTX 4060", "Ada", 89, 24,
     UINT64_C(8349810688), "derived", 280, 400, 600},
    {"rtx4060ti-8g", "GeForce RTX 4060 Ti", "NVIDIA GeForce RTX 4060 Ti;RTX 4060 Ti", "Ada", 89, 34,
     UINT64_C(8349810688), "derived", 280, 400, 600},
    {"rtx4060ti-16g", "GeForce RTX 4060 Ti 16GB", "NVIDIA GeForce RTX 4060 Ti 16GB", "Ada", 89, 34,
     UINT64_C(16710107136), "recalled", 280, 400, 600},
    {"rtx4070-12g", "GeForce RTX 4070", "NVIDIA GeForce RTX 4070;RTX 4070", "Ada", 89, 46,
     UINT64_C(12630097920), "derived", 280, 400, 600},
    {"rtx4070super-12g", "GeForce RTX 4070 SUPER", "NVIDIA GeForce RTX 4070 SUPER;RTX 4070 SUPER",
     "Ada", 89, 56, UINT64_C(12630097920), "derived", 280, 400, 600},
    {"rtx4070ti-12g", "GeForce RTX 4070 Ti", "NVIDIA GeForce RTX 4070 Ti;RTX 4070 Ti", "Ada", 89,
     60, UINT64_C(12630097920), "derived", 280, 400, 600},
    {"rtx4070ti-super-16g", "GeForce RTX 4070 Ti SUPER",
     "NVIDIA GeForce RTX 4070 Ti SUPER;RTX 4070 Ti SUPER", "Ada", 89, 66, UINT64_C(16749953024),
     "measured (15934..15974)", 280, 400, 600},
    {"rtx4080-16g", "GeForce RTX 4080", "NVIDIA GeForce RTX 4080;RTX 4080", "Ada", 89, 76,
     UINT64_C(16828596224), "measured", 280, 400, 600},
    {"rtx4080super-16g", "GeForce RTX 4080 SUPER", "NVIDIA GeForce RTX 4080 SUPER;RTX 4080 SUPER",
     "Ada", 89, 80, UINT64_C(16730030080), "derived", 280, 400, 600},
    {"rtx4090-24g", "GeForce RTX 4090", "NVIDIA GeForce RTX 4090;RTX 4090", "Ada", 89, 128,
     UINT64_C(25386024960), "measured (23.64 GiB printed, 23.52..23.65; Windows/WSL 24563)", 280,
     400, 600},
    {"rtx4090d-24g", "GeForce RTX 4090 D", "NVIDIA GeForce RTX 4090 D;RTX 4090 D", "Ada", 89, 114,
     UINT64_C(25386024960), "derived", 280, 400, 600},
    {"rtx4060-laptop-8g", "GeForce RTX 4060 Laptop GPU",
     "NVIDIA GeForce RTX 4060 Laptop GPU;RTX 4060 Laptop GPU;rtx4060-laptop", "Ada", 89, 24,
     UINT64_C(8349810688), "derived", 280, 400, 600},
    {"rtx4070-laptop-8g", "GeForce RTX 4070 Laptop GPU",
     "NVIDIA GeForce RTX 4070 Laptop GPU;RTX 4070 Laptop GPU;rtx4070-laptop", "Ada", 89, 36,
     UINT64_C(8349810688), "derived", 280, 400, 600},
    {"rtx4080-laptop-12g", "GeForce RTX 4080 Laptop GPU",
     "NVIDIA GeForce RTX 4080 Laptop GPU;RTX 4080 Laptop GPU;rtx4080-laptop", "Ada", 89, 58,
     UINT64_C(12630097920), "derived", 280, 400, 600},
    {"rtx4090-laptop-16g", "GeForce RTX 4090 Laptop GPU",
     "NVIDIA GeForce RTX 4090 Laptop GPU;RTX 4090 Laptop GPU;rtx4090-laptop", "Ada", 89, 76,
     UINT64_C(16909336576), "derived", 280, 400, 600},
    {"rtx5050-8g", "GeForce RTX 5050", "NVIDIA GeForce RTX 5050;RTX 5050", "Blackwell (consumer)",
     120, 20, UINT64_C(8311013376), "derived", 400, 550, 800},
    {"rtx5060-8g", "GeForce RTX 5060", "NVIDIA GeForce RTX 5060;RTX 5060", "Blackwell (consumer)",
     120, 30, UINT64_C(8311013376), "derived", 400, 550, 800},
    {"rtx5060ti-16g", "GeForce RTX 5060 Ti 16GB", "NVIDIA GeForce RTX 5060 Ti;rtx5060ti",
     "Blackwell (consumer)", 120, 36, UINT64_C(16610492416), "measured", 400, 550, 800},
    {"rtx5070-12g", "GeForce RTX 5070", "NVIDIA GeForce RTX 5070;RTX 5070", "Blackwell (consumer)",
     120, 48, UINT64_C(12572426240), "derived", 400, 550, 800},
    {"rtx5070ti-16g", "GeForce RTX 5070 Ti", "NVIDIA GeForce RTX 5070 Ti;RTX 5070 Ti",
     "Blackwell (consumer)", 120, 70, UINT64_C(16617832448), "derived from 5080", 400, 550, 800},
    {"rtx5080-16g", "GeForce RTX 5080", "NVIDIA GeForce RTX 5080;RTX 5080", "Blackwell (consumer)",
     120, 84, UINT64_C(16610492416),
     "measured value, card inferred (15.46..15.47 GiB printed); 16302 MiB measured on Windows", 400,
     550, 800},
    {"rtx5090-32g", "GeForce RTX 5090", "NVIDIA GeForce RTX 5090;RTX 5090", "Blackwell (consumer)",
     120, 170, UINT64_C(33672921088),
     "measured value, card inferred (31.36..31.40 GiB printed); smi 32607 measured", 400, 550, 800},
    {"rtx5090d-32g", "GeForce RTX 5090 D", "NVIDIA GeForce RTX 5090 D;RTX 5090 D",
     "Blackwell (consumer)", 120, 170, UINT64_C(33670823936), "derived", 400, 550, 800},
    {"rtx5090-laptop-24g", "GeForce RTX 5090 Laptop GPU",
     "NVIDIA GeForce RTX 5090 Laptop GPU;RTX 5090 Laptop GPU;rtx5090-laptop",
     "Blackwell (consumer)", 120, 82, UINT64_C(25364004864), "derived", 400, 550, 800},
    {"gb10-128g", "DGX Spark GB10", "NVIDIA GB10;gb10;dgx-spark", "Blackwell (consumer)", 121, 48,
     UINT64_C(128523960320), "recalled (119.7 GiB unified, shared with host)", 300, 450, 800},
    {"orin-64g", "Jetson AGX Orin 64GB", "Orin;jetson-orin-64g", "Ampere", 87, 16,
     UINT64_C(65892515840), "recalled (unified)", 200, 400, 800},
    {"thor-128g", "Jetson AGX Thor", "NVIDIA Thor;thor", "Blackwell", 110, 20,
     UINT64_C(131881500672), "recalled (unified)", 300, 500, 900},
    {"mi50-32g", "Instinct MI50 32GB", "AMD Instinct MI50;mi50", "CDNA/RDNA gfx906", 0, 0,
     UINT64_C(34342961152), "recalled", 200, 450, 1100},
    {"mi100-32g", "Instinct MI100", "AMD Instinct MI100;mi100", "CDNA/RDNA gfx908", 0, 0,
     UINT64_C(34342961152), "recalled", 200, 450, 1100},
    {"mi210-64g", "Instinct MI210", "AMD Instinct MI210;mi210", "CDNA/RDNA gfx90a", 0, 0,
     UINT64_C(68702699520), "measured", 200, 450, 1100},
    {"mi250x-64g", "Instinct MI250X (per GCD)",
     "AMD Instinct MI250X;AMD Instinct MI250X/MI250;AMD Instinct MI250;mi250x;mi250",
     "CDNA/RDNA gfx90a", 0, 0, UINT64_C(68702699520), "measured", 200, 450, 1100},
    {"mi300a-128g", "Instinct MI300A", "AMD Instinct MI300A;mi300a", "CDNA/RDNA gfx942", 0, 0,
     UINT64_C(137438953472), "derived (unified)", 200, 450, 1100},
    {"mi300x-192g", "Instinct MI300X", "AMD Instinct MI300X;AMD Instinct MI300X VF;mi300x",
     "CDNA/RDNA gfx942", 0, 0, UINT64_C(206141652992), "measured", 200, 450, 1100},
    {"mi308x-192g", "Instinct MI308X", "AMD Instinct MI308X;mi308x", "CDNA/RDNA gfx942", 0, 0,
     UINT64_C(206141652992), "derived", 200, 450, 1100},
    {"mi325x-256g", "Instinct MI325X", "AMD Instinct MI325X;mi325x", "CDNA/RDNA gfx942", 0, 0,
     UINT64_C(274856935424), "measured value, card inferred (255.98 GiB printed)", 200, 450, 1100},
    {"mi350x-288g", "Instinct MI350X", "AMD Instinct MI350X;mi350x", "CDNA/RDNA gfx950", 0, 0,
     UINT64_C(309220868096), "derived", 200, 450, 1100},
    {"mi355x-288g", "Instinct MI355X", "AMD Instinct MI355X;mi355x", "CDNA/RDNA gfx950", 0, 0,
     UINT64_C(309216673792), "measured value, card inferred (287.98 GiB printed)", 200, 450, 1100},
    {"rx7900xtx-24g", "Radeon RX 7900 XTX", "AMD Radeon RX 7900 XTX;RX 7900 XTX",
     "CDNA/RDNA gfx1100", 0, 0, UINT64_C(25753026560), "measured (23.98 GiB printed)", 200, 450,
     1100},
    {"rx7900xt-20g", "Radeon RX 7900 XT", "AMD Radeon RX 7900 XT;RX 7900 XT", "CDNA/RDNA gfx1100",
     0, 0, UINT64_C(21458059264), "derived", 200, 450, 1100},
    {"w7900-48g", "Radeon PRO W7900", "AMD Radeon PRO W7900;PRO W7900;w7900", "CDNA/RDNA gfx1100",
     0, 0, UINT64_C(51522830336), "derived", 200, 450, 1100},
    {"rx7800xt-16g", "Radeon RX 7800 XT", "AMD Radeon RX 7800 XT;RX 7800 XT", "CDNA/RDNA gfx1101",
     0, 0, UINT64_C(17163091968), "derived (16368 measured on a gfx1100 16 GB part)", 200, 450,
     1100},
    {"rx6800-16g", "Radeon RX 6800/6900 XT",
     "AMD Radeon RX 6800;AMD Radeon RX 6900 XT;RX 6800/6900 XT;rx6800;rx6900xt-16g;rx6900xt",
     "CDNA/RDNA gfx1030", 0, 0, UINT64_C(17163091968), "derived", 200, 450, 1100},
    {"rx9070xt-16g", "Radeon RX 9070 XT", "AMD Radeon RX 9070 XT;RX 9070 XT", "CDNA/RDNA gfx1201",
     0, 0, UINT64_C(17095983104), "derived", 200, 450, 1100},
    {"r9700-32g", "Radeon AI PRO R9700", "AMD Radeon AI PRO R9700;AI PRO R9700;r9700",
     "CDNA/RDNA gfx1201", 0, 0, UINT64_C(34208743424), "derived", 200, 450, 1100},
    {"8060s-128g", "Ryzen AI Max 8060S", "AMD Radeon 8060S;AMD Radeon(TM) 8060S Graphics;8060s",
     "CDNA/RDNA gfx1151", 0, 0, UINT64_C(83954237440),
     "measured (one allotment; host-configurable)", 200, 450, 1100},
};
const unsigned vram_gpus_count = sizeof vram_gpus / sizeof *vram_gpus;

/* The next character of a name that counts, in lower case; 0 at the end, at ';' and after it. */
static char next_char(const char **at, const char *begin)
{
    for (;; ++*at) {
        char c = **at;
        if (c == 0 || c == ';')
            return 0;
        if (c == ' ' || c == '-' || c == '_')
            continue;
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        /* "80GB" reads as "80g" */
        if (c == 'b' && *at - begin >= 2 && ((*at)[-1] == 'g' || (*at)[-1] == 'G') &&
            (*at)[-2] >= '0' && (*at)[-2] <= '9')
            continue;
        ++*at;
        return c;
    }
}

static bool same(const char *a, const char *b)
{
    const char *a0 = a, *b0 = b;
    for (;;) {
        char x = next_char(&a, a0), y = next_char(&b, b0);
        if (x != y)
            return false;
        if (x == 0)
            return true;
    }
}

static bool any_alias(const char *aliases, const char *name)
{
    while (*aliases) {
        if (same(aliases, name))
            return true;
        while (*aliases && *aliases != ';')
            aliases++;
        if (*aliases)
            aliases++;
    }
    return false;
}

const struct vram_gpu_row *vram_gpu_find(const char *name)
{
    const char *first = name;
    if (!next_char(&first, name))
        return NULL;
    for (const char *c = name; *c; c++)
        if (*c == ';') /* separates aliases, is in no name */
            return NULL;
    for (unsigned i = 0; i < vram_gpus_count; i++) {
        const struct vram_gpu_row *row = &vram_gpus[i];
        if (same(row->short_name, name) || same(row->name, name) || any_alias(row->aliases, name))
            return row;
    }
    return NULL;
}

/* Does a name hold the word, read as above? */
static bool holds(const char *text, const char *word)
{
    for (; *text; text++) {
        const char *a = text, *b = word;
        char x, y;
        do {
            x = next_char(&a, text);
            y = next_char(&b, word);
        } while (y && x == y);
        if (!y)
            return true;
    }
    return false;
}

size_t vram_gpu_near(const char *word, const struct vram_gpu_row **out, size_t most)
{
    struct vram_suggestion s;
    size_t n = 0;
    vram_suggest_init(&s, word);
    for (unsigned i = 0; i < vram_gpus_count; i++) {
        const struct vram_gpu_row *row = &vram_gpus[i];
        vram_suggest_offer(&s, row->short_name, strlen(row->short_name));
        vram_suggest_offer(&s, row->short_name, strcspn(row->short_name, "-")); /* without its memory */
        if (strlen(word) > 1 && n < most && (holds(row->short_name, word) || holds(row->name, word)))
            out[n++] = row;
    }
    if (!n && s.word && most)
        out[n++] = vram_gpu_find(s.word);
    return n;
}
