/* layouts.c: the table of folders that are a worker, or parts of one. */
#include "session/layouts/layouts_int.h"

#include "base/num.h"
#include "ingest/ascend/torch_npu.h"
#include "ingest/rocm/rocm.h"

static const folder_layout *torch_npu(void) {
    return &FOLDER_LAYOUTS[0];
}

static bool skip_npu_part(str name, const folder_layout *taken) {
    return taken == torch_npu() && torch_npu_is_part(name);
}

static bool skip_rocm_part(str name, const folder_layout *taken) {
    (void)taken;
    return rocm_csv_is_part(name);
}

const folder_layout FOLDER_LAYOUTS[] = {
    {.take = torch_npu_folders_take,
     .skips_file = skip_npu_part,
     .skips_folder = torch_npu_folders_skip},
    {.take = mindspore_folders_take, .names_all = true, .skips_folder = mindspore_folders_skip},
    {.skips_file = skip_rocm_part},
};
const size_t N_FOLDER_LAYOUTS = N_OF(FOLDER_LAYOUTS);
