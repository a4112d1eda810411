// Settings for Metro, the bundler of React Native and Expo. Before React Native 0.79 and Expo's SDK 53, it did not read
// `exports`, so both ways are tried.

const { dirname } = require("node:path");

module.exports = {
  projectRoot: __dirname,
  watchFolders: [__dirname, dirname(require.resolve("metro-runtime/package.json"))],
  cacheStores: [],
  maxWorkers: 1,
  resolver: { unstable_enablePackageExports: process.env.EXPORTS === "true" },
  transformer: { getTransformOptions: async () => ({ transform: { experimentalImportSupport: true } }) },
};
