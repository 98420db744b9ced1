"""A polynomial, fitted by stochastic gradient descent. This file is what a search changes."""

from api import evaluate, get_train_loader, load_checkpoint, on_answer, phase, report_results, save_checkpoint

LEARNING_RATE = 0.02
DEGREE = 3
DECAY = 0.0001


def predict(weights, x):
    return sum(weight * x**power for power, weight in enumerate(weights))


if phase == "train":
    weights = [0.0] * (DEGREE + 1)
    for batch in get_train_loader(batch_size=8):
        for point in batch:
            off = predict(weights, point["x"]) - point["y"]
            for power in range(DEGREE + 1):
                weights[power] -= LEARNING_RATE / len(batch) * (off * point["x"] ** power + DECAY * weights[power])
    report_results({"squared_error": evaluate(lambda x: predict(weights, x))})
    save_checkpoint(weights)
else:
    weights = load_checkpoint()
    on_answer(lambda xs: [predict(weights, x) for x in xs])
