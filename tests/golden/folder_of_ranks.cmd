# a folder of ranks is all ranks; loaders and launchers are not; --worker gives one; files are a run
mkdir $TMP/run
for w in rank1.h_3 rank0.h_2 rank0.h_2.loader_5 h_1.launcher; do
  cp minimal.pt.trace.json $TMP/run/$w.1.pt.trace.json
done
cp phases.json $TMP/run/extra.json
cd $TMP
$TACHO overview --stable run | head -2
$TACHO overview --stable run --json | head -1 | grep -o '"worker":[^,]*\|"ranks":[0-9]*,"run_ranks":[0-9]*'
$TACHO overview --stable run --worker rank1.h_3 | head -1
$TACHO overview --stable run --worker rank0.h_2.loader_5 | head -1
$TACHO overview --stable run --all-workers | head -1
$TACHO overview --stable run/rank*.json | head -1
$TACHO kernels --stable run | head -1
$TACHO advise --stable run | head -1
$TACHO advise --stable run --lang zh | head -1
$TACHO distributed --stable run | head -1
$TACHO summary --stable run | head -1
$TACHO info --stable run --table workers --format csv
