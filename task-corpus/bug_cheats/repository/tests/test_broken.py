import a_package_that_is_not_here


def test_nothing():
    assert a_package_that_is_not_here
