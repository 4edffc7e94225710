# rocprofv3's tables: one file of a recording brings the others with it, a folder is one run
for f in rocm_csv rocm_csv/run_kernel_trace.csv; do
$TACHO info --stable $f 2>&1 | grep -v 'store_bytes\|input_bytes'
$TACHO steps --stable --table steps --format csv $f
done
$TACHO kernels --stable --format csv rocm_csv
$TACHO overview --stable --table breakdown --format csv rocm_csv
# a table alone
$TACHO info --stable - < rocm_csv/run_hip_api_trace.csv 2>&1 | grep -v bytes
