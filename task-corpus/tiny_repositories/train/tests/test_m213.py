from tiny.m213 import f


def test_0():
    assert f('ed') == 'ede'


def test_1():
    assert f('ec') == 'ece'


def test_2():
    assert f('cd') == 'cde'


def test_3():
    assert f('ead') == 'eae'


def test_4():
    assert f('abac') == 'abe'


def test_5():
    assert f('dbeb') == 'dbe'


def test_6():
    assert f('ac') == 'ace'


def test_7():
    assert f('eeec') == 'eee'
