from tiny.m228 import f


def test_0():
    assert f('ced') == ['ec', 'vc']


def test_1():
    assert f('ebae') == ['bc', 'ac', 'ec']


def test_2():
    assert f('ca') == ['ac']


def test_3():
    assert f('badb') == ['ac', 'vc', 'bc']


def test_4():
    assert f('da') == ['ac']


def test_5():
    assert f('ccad') == ['cc', 'ac', 'vc']


def test_6():
    assert f('ccdb') == ['cc', 'vc', 'bc']


def test_7():
    assert f('bb') == ['bc']
