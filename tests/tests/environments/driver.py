def drive(source, seed, count):
    import copy, inspect, random, sys, types, typing
    module = sys.modules["environment"] = types.ModuleType("environment")
    exec(compile(source, "<environment>", "exec", 0, True), module.__dict__)
    draw, pool, made, refused, worked = random.Random(seed), {str: ["", "x", "a/b", "Zz"], int: [0, 1, -1, 2, 600, 10 ** 9]}, 0, 0, set()

    def learn(value, depth=0):
        if depth < 5 and type(value) in pool and len(pool[type(value)]) < 400:
            pool[type(value)].append(value)
        elif depth < 5 and type(value) in (list, tuple):
            [learn(item, depth + 1) for item in value]
        elif depth < 5 and type(value) is dict:
            [(learn(key, depth + 1), learn(item, depth + 1)) for key, item in value.items()]

    def make(wanted):
        origin, inner = typing.get_origin(wanted), typing.get_args(wanted)
        if origin is list:
            return [make(inner[0]) for _ in range(draw.randrange(4))]
        if origin is dict:
            return {make(inner[0]): make(inner[1]) for _ in range(draw.randrange(3))}
        if wanted == int | None:
            return draw.choice([None, make(int)])
        return draw.choice(pool[wanted])

    module.check()
    learn(module.dump())
    for _ in range(count):
        tool = draw.choice(module.TOOLS)
        arguments = [make(parameter.annotation) for parameter in inspect.signature(tool).parameters.values()]
        before = copy.deepcopy(module.dump())
        try:
            learn(tool(*copy.deepcopy(arguments)))
            made += 1
            worked.add(tool.__name__)
        except (KeyError, ValueError, OSError):
            refused += 1
            assert module.dump() == before, f"{tool.__name__}{arguments} was refused and changed the state"
        module.check()
    return made, refused, sorted(worked)
