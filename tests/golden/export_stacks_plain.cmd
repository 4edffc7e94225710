$TACHO export phases.json --to stacks
