from tiny.m070 import f


def test_0():
    assert f('cc') == 'cc'


def test_1():
    assert f('eeec') == 'ceee'


def test_2():
    assert f('ad') == 'av'


def test_3():
    assert f('dcec') == 'cecv'


def test_4():
    assert f('ccdd') == 'vvcc'


def test_5():
    assert f('bec') == 'ceb'


def test_6():
    assert f('da') == 'va'


def test_7():
    assert f('adae') == 'eava'
