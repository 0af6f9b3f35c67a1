from tiny.m006 import f


def test_0():
    assert f('decc') == ['ec', 'cc', 'cc']


def test_1():
    assert f('aecb') == ['ec', 'cc', 'wc']


def test_2():
    assert f('ceae') == ['ec', 'ac', 'ec']


def test_3():
    assert f('dabc') == ['ac', 'wc', 'cc']


def test_4():
    assert f('ec') == ['cc']


def test_5():
    assert f('eba') == ['wc', 'ac']


def test_6():
    assert f('aeee') == ['ec', 'ec', 'ec']


def test_7():
    assert f('eed') == ['ec', 'dc']
