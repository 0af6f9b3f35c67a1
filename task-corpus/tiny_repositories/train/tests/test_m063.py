from tiny.m063 import f


def test_0():
    assert f('eb') == 'b'


def test_1():
    assert f('acc') == 'cc'


def test_2():
    assert f('dd') == 'd'


def test_3():
    assert f('bacd') == 'acd'


def test_4():
    assert f('eaee') == 'aee'


def test_5():
    assert f('aaa') == 'aa'


def test_6():
    assert f('aa') == 'a'


def test_7():
    assert f('dbeb') == 'beb'
