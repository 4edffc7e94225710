NO_COLOR=1 ../golden/terminal 80x40 $TACHO pipeline --stable --lang zh mindspore_input
