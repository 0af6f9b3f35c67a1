from tiny.m135 import f


def test_0():
    assert f('aa') == ['ac', 'ac']


def test_1():
    assert f('cda') == ['cc', 'dc', 'ac']


def test_2():
    assert f('dc') == ['dc', 'cc']


def test_3():
    assert f('aeb') == ['ac', 'ec', 'bc']


def test_4():
    assert f('eba') == ['ec', 'bc', 'ac']


def test_5():
    assert f('ddc') == ['dc', 'dc', 'cc']


def test_6():
    assert f('ac') == ['ac', 'cc']


def test_7():
    assert f('ab') == ['ac', 'bc']
