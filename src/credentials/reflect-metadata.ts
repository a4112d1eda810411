// Loads the package reflect-metadata, which must run before @peculiar/x509. In a bundle, a CommonJS package runs at the
// position of the file that imports it. So this import needs a file of its own, which is imported before
// @peculiar/x509.

import "reflect-metadata";
