$TACHO critical --stable loaders --limit 8; $TACHO whatif --stable loaders --scale range:DataLoader.fetch=0.5
