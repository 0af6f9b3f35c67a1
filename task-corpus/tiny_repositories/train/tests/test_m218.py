from tiny.m218 import f


def test_0():
    assert f('bcea') == 'caecb'


def test_1():
    assert f('ccb') == 'cbcc'


def test_2():
    assert f('dd') == 'cdd'


def test_3():
    assert f('ebbb') == 'cbbbe'


def test_4():
    assert f('dda') == 'cadd'


def test_5():
    assert f('bba') == 'cabb'


def test_6():
    assert f('eaca') == 'cacae'


def test_7():
    assert f('ba') == 'cab'
