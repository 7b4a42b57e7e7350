/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory outside the tensors: buffers of libraries, kernels that are loaded on first use, other
 * processes.  Three values each, because most of it depends on versions and on what else runs;
 * `source` says where the values come from: "source" was read in the code that allocates,
 * "measured" found in a public log or issue, "inferred" reasoned from neighbouring figures,
 * "recalled" commonly reported.  The context of a card stands in its row of gpus.c; the row here
 * serves when no card was named.
 */
#include "tables/tables.h"

#include <stddef.h>
#include <string.h>

#define KIB(n) (UINT64_C(n) << 10)
#define MIB(n) (UINT64_C(n) << 20)

const struct vram_constant_row vram_constants[] = {
    /* ---- inside torch's allocated bytes ---- */
    {"cublas-workspace", "bytes", 8519680, 8519680, MIB(32),
     "each handle and stream, no card named", "source: the rows of each SM below"},
    {"cublas-workspace-before-sm90", "bytes", 8519680, 8519680, 8519680,
     "each handle and stream, before SM 9.0",
     "source: 2 x 4096 KiB + 8 x 16 KiB by default; confirmed by a public test of torch"},
    {"cublas-workspace-sm90", "bytes", MIB(32), MIB(32), MIB(32), "each handle and stream, SM 9.0",
     "source: getChosenWorkspaceSize"},
    {"cublas-workspace-sm100", "bytes", 8519680, 8519680, MIB(32),
     "each handle and stream, SM 10.0 and above",
     "source: the default until torch 2.10, 32 MiB from torch 2.11"},
    {"cublas-workspaces", "count", 1, 2, 4, "any run with a matrix product",
     "source: handles are kept per thread: one for forward, one for autograd; more with side "
     "streams"},
    {"cublaslt-workspace", "bytes", 0, 0, MIB(32), "products with a fused bias or activation",
     "source: shares cuBLAS's workspace unless TORCH_CUBLASLT_UNIFIED_WORKSPACE=0"},
    {"hipblaslt-workspace", "bytes", MIB(32), MIB(76), MIB(76), "AMD cards", "source: 76 MiB"},
    {"transformer-engine-workspace", "bytes", MIB(4), MIB(32) + KIB(1), MIB(33),
     "Transformer Engine", "source: transformer_engine 2.20.2; 4 MiB before SM 9.0"},
    {"cudnn-conv-workspace", "bytes", 0, MIB(10), MIB(500), "a convolution (patch embedding)",
     "inferred: the first algorithm that fits; benchmark mode may try the largest"},
    {"cudnn-sdpa-workspace", "bytes", 0, MIB(16), MIB(200), "attention=cudnn, in backward",
     "inferred: fp32 accumulation of the query's gradient"},
    {"grad-scaler", "bytes", 1536, 1536, 1536, "fp16 with loss scaling",
     "source: three scalars of 512 bytes"},

    /* ---- outside torch ---- */
    {"context", "bytes", MIB(250), MIB(450), MIB(700), "CUDA context, kernels loaded lazily",
     "measured: 256 on an RTX 3090 (torch 2.7), 426 on an RTX 6000 Ada (torch 2.10), 0.47 GiB on "
     "an A100"},
    {"context-eager", "bytes", MIB(600), MIB(920), MIB(1800),
     "CUDA context, CUDA_MODULE_LOADING=EAGER or torch before 2.0",
     "measured: 0.92 GiB on an A100, 1008 MiB on a Titan V"},
    {"context-kernels", "bytes", MIB(50), MIB(120), MIB(300),
     "on top of the context once a step has run",
     "inferred: kernels are loaded one by one; the "
     "difference of lazy and eager loading bounds it"},
    {"nccl-first", "bytes", MIB(300), MIB(600), MIB(1600), "the first communicator of a process",
     "measured: 544 MB with 2 and 688 MB with 4 ranks (nccl#964), 1.6 GB (nccl#864)"},
    {"nccl-further", "bytes", MIB(300), MIB(650), MIB(2000), "each further communicator",
     "measured: about 2 GB (nccl#864), 0.65 GiB on ROCm (LUMI-AI-Guide#111)"},
    {"nccl-all-to-all", "bytes", MIB(500), MIB(2000), MIB(3500),
     "point-to-point: expert, Ulysses or pipeline parallelism",
     "measured: 3.3 GB on 8 H100 (nccl#1685)"},
    {"nccl-nvls", "bytes", 0, MIB(200), MIB(1500), "multicast buffers on NVSwitch",
     "inferred; none with NCCL_NVLS_ENABLE=0"},
    {"bitsandbytes", "bytes", MIB(10), MIB(40), MIB(100), "4-bit or 8-bit weights or optimizer",
     "inferred from the size of the library"},
    {"flash-attn-kernels", "bytes", MIB(10), MIB(60), MIB(250), "attention=flash2 or flash3",
     "inferred: the kernels of one head size are loaded on first use"},
    {"triton-kernels", "bytes", MIB(1), MIB(20), MIB(100), "kernels=liger or compile=on",
     "inferred: under 1 MiB each, more when registers spill"},
    {"local-memory", "bytes", 0, MIB(50), MIB(600), "kernels with large stacks",
     "inferred: multiprocessors x threads x bytes, kept until the context ends"},
    {"deepspeed-ops", "bytes", MIB(1), MIB(5), MIB(20), "engine=deepspeed, fused optimizer",
     "inferred"},
    {"profiler", "bytes", MIB(100), MIB(250), MIB(600), "the torch profiler is on", "recalled"},
    {"svd-handle", "bytes", MIB(100), MIB(300), MIB(700), "GaLore and other optimizers with an SVD",
     "inferred: handle and workspace of cuSOLVER"},
    {"desktop", "bytes", MIB(150), MIB(500), MIB(1500), "a card that also drives a display",
     "recalled"},
};
const unsigned vram_constants_count = sizeof vram_constants / sizeof *vram_constants;

const struct vram_constant_row *vram_constant_find(const char *name)
{
    for (unsigned i = 0; i < vram_constants_count; i++)
        if (!strcmp(vram_constants[i].name, name))
            return &vram_constants[i];
    return NULL;
}
