from tiny.m000 import f


def test_0():
    assert f('eaa') == 'ee'


def test_1():
    assert f('cbee') == 'cbeecbee'


def test_2():
    assert f('caae') == 'cece'


def test_3():
    assert f('bbe') == 'bbebbe'


def test_4():
    assert f('cdce') == 'cdcecdce'


def test_5():
    assert f('cdc') == 'cdccdc'


def test_6():
    assert f('dc') == 'dcdc'


def test_7():
    assert f('ccc') == 'cccccc'
