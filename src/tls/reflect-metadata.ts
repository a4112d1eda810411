// Loads the package that @peculiar/x509 needs. It must be loaded first. In a bundle, a package in the CommonJS format
// runs where the file that imports it stands. So this import needs a file of its own, which comes before @peculiar/x509.

import "reflect-metadata";
