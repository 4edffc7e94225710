$TACHO help kernels --lang zh
