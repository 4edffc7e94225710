"""A training program without a framework: steps with a forward and a backward pass."""
import tacho


def work(n):
    return sum(i * i for i in range(n))


def main():
    with tacho.profile() as prof:
        for _ in range(5):
            with tacho.record_function("forward"):
                work(20000)
            with tacho.record_function("backward"):
                work(40000)
            prof.step()


main()
