cd $TMP && echo words of a letter > notes.txt && $TACHO report notes.txt -q -o r.html; $TACHO report nowhere.json -q -o r.html
