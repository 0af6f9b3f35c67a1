from tiny.m149 import f


def test_0():
    assert f('dc') == ['dc', 'd']


def test_1():
    assert f('cbed') == ['cbzd', 'd']


def test_2():
    assert f('cb') == ['cb', 'd']


def test_3():
    assert f('aca') == ['aca', 'd']


def test_4():
    assert f('ecba') == ['zcba', 'd']


def test_5():
    assert f('aa') == ['aa', 'd']


def test_6():
    assert f('ce') == ['cz', 'd']


def test_7():
    assert f('cd') == ['cd', 'd']
