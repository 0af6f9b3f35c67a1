from tiny.m028 import f


def test_0():
    assert f('aa') == 'aax'


def test_1():
    assert f('decc') == 'cced'


def test_2():
    assert f('bcde') == 'edcb'


def test_3():
    assert f('aeac') == 'cyey'


def test_4():
    assert f('eb') == 'bex'


def test_5():
    assert f('edcb') == 'bcde'


def test_6():
    assert f('ed') == 'dex'


def test_7():
    assert f('daa') == 'yyd'
