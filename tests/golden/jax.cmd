# a profile of XLA: what it is, its steps, operations and name scopes; what lies beside it is not read again
$TACHO info --stable jax 2>&1 | grep -v store_bytes
$TACHO steps --stable --table steps --format csv jax/plugins/profile/2026_11_17_02_39_20/trainer.xplane.pb.gz
$TACHO operators --stable --format csv jax/plugins/profile/2026_11_17_02_39_20/trainer.xplane.pb.gz
$TACHO modules --stable --format csv jax/plugins/profile/2026_11_17_02_39_20/trainer.xplane.pb.gz
$TACHO advise --stable jax/plugins/profile/2026_11_17_02_39_20/trainer.xplane.pb.gz
# the same under a name that says nothing
zcat jax/plugins/profile/2026_11_17_02_39_20/trainer.xplane.pb.gz | $TACHO info --stable --table events --format csv -
