from tiny.m150 import f


def test_0():
    assert f('bbed') == 'bbedbbed'


def test_1():
    assert f('edbc') == 'edbcedbc'


def test_2():
    assert f('aad') == 'aadaad'


def test_3():
    assert f('acc') == 'accacc'


def test_4():
    assert f('ea') == 'eaea'


def test_5():
    assert f('cbd') == 'cbdcbd'


def test_6():
    assert f('aaeb') == 'aaebaaeb'


def test_7():
    assert f('ae') == 'aeae'
