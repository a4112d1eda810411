// The environment variable that makes the tests of the specification use the root list only, whatever its value is.

export const rootListOnly = "TODOITEMS_TEST_ROOT_LIST_ONLY";
