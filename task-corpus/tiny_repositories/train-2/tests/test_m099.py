from tiny.m099 import f


def test_0():
    assert f('ad') == 'zae'


def test_1():
    assert f('bce') == 'zyee'


def test_2():
    assert f('da') == 'zde'


def test_3():
    assert f('acc') == 'zave'


def test_4():
    assert f('db') == 'zde'


def test_5():
    assert f('edcd') == 'zeve'


def test_6():
    assert f('adc') == 'zave'


def test_7():
    assert f('ba') == 'zye'
