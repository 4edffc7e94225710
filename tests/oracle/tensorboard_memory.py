def todo(check, *rest):
    pass


statistics = curve = blocks = modules = tree = devices = overlap = waiting = collectives = todo
