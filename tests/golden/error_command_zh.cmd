LC_ALL=zh_CN.UTF-8 $TACHO frobnicate
