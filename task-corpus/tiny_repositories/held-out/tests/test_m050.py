from tiny.m050 import f


def test_0():
    assert f('dccc') == ['dc', 'cc', 'cc']


def test_1():
    assert f('ae') == ['ac']


def test_2():
    assert f('ed') == ['ec']


def test_3():
    assert f('be') == ['bc']


def test_4():
    assert f('cc') == ['cc']


def test_5():
    assert f('ad') == ['ac']


def test_6():
    assert f('bc') == ['bc']


def test_7():
    assert f('ade') == ['ac', 'dc']
