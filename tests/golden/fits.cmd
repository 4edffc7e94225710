# memory at a batch that was never recorded: from two recordings, and from one alone
$TACHO fits --stable fits/gpt/batch_3.pt.trace.json.gz fits/gpt/batch_5.pt.trace.json.gz --batch 64 --length 128 --device 32M --limit 4
$TACHO fits --stable --lang zh fits/cnn/batch_5.pt.trace.json.gz --batch 64 --table unknown
$TACHO fits --stable fits/contrastive/batch_30.pt.trace.json.gz fits/contrastive/batch_50.pt.trace.json.gz --batch 400 --table blocks --limit 3
$TACHO fits --stable --format json --table recorded fits/unet/batch_3.pt.trace.json.gz fits/unet/batch_5.pt.trace.json.gz | tr -d '\n ' | grep -o '"rows":.*' | cut -c1-120
# nothing to learn from
$TACHO fits --stable own_tracer.json 2>&1 | head -1
$TACHO fits --stable memory_snapshot.pickle --batch 8 2>&1 | head -1
$TACHO fits --stable memory_snapshot.pickle --batch 8 --recorded-batch x 2>&1 | head -1
