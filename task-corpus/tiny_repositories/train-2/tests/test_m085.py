from tiny.m085 import f


def test_0():
    assert f('bb') == ['', 'a']


def test_1():
    assert f('ed') == ['ed', 'a']


def test_2():
    assert f('ddc') == ['ddc', 'a']


def test_3():
    assert f('ddeb') == ['dde', 'a']


def test_4():
    assert f('aace') == ['aace', 'a']


def test_5():
    assert f('ebb') == ['e', 'a']


def test_6():
    assert f('aaee') == ['aaee', 'a']


def test_7():
    assert f('cee') == ['cee', 'a']
