cd $TMP && mkdir -p h_1_2_ascend_pt/FRAMEWORK && $TACHO info h_1_2_ascend_pt --stable
