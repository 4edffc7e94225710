for command in "operators" "summary" "kernels" "advise"; do
    ../golden/terminal --check 100x40 $TACHO $command -q hostile_names.json 2>/dev/null
done
for command in "operators" "summary" "summary --style paddle" "top --show-host" "top --show-host --confluence"; do
    $TACHO $command -q hostile_names.json 2>/dev/null | grep -cP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae'
done
../golden/terminal 100x40 $TACHO operators --stable --color never hostile_names.json
