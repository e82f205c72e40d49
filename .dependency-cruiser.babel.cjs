/**
 * How dependency-cruiser reads TypeScript: TypeScript 7 has no JavaScript API for it, its swc parser knows neither TSX
 * nor `import type`. Babel parses; this plugin leaves of each file only what it imports, so that nothing newer than
 * acorn's ES2020 is left to misread: `import` and `require` for what is loaded at run time, `typeImport` for what is
 * only a type.
 */
function importsAsWritten({ types: t }) {
  const call = (name, source) => t.expressionStatement(t.callExpression(t.identifier(name), [t.stringLiteral(source.value)]));
  const load = (source) => t.importDeclaration([], t.stringLiteral(source.value));
  const loadLater = (source) => call('require', source);
  const typeOnly = (source) => call('typeImport', source);

  const ofStatement = (node) => {
    if (node.source == null) return [];
    const kind = node.importKind ?? node.exportKind;
    const names = node.specifiers ?? [];
    const named = names.length > 0 && names.every((name) => (name.importKind ?? name.exportKind) === 'type');
    return [kind === 'type' || named ? typeOnly(node.source) : load(node.source)];
  };

  return {
    name: 'imports-as-written',
    manipulateOptions: (options, parser) => {
      parser.plugins.push('typescript', ...(/\.[jt]sx$/.test(options.filename ?? '') ? ['jsx'] : []));
    },
    visitor: {
      Program: {
        exit(program) {
          const found = program.node.body.flatMap(ofStatement);
          const later = (source) => void (t.isStringLiteral(source) && found.push(loadLater(source)));
          program.traverse({
            TSImportType: ({ node }) => void found.push(typeOnly(node.argument.literal ?? node.argument)),
            TSExternalModuleReference: ({ node }) => later(node.expression),
            ImportExpression: ({ node }) => later(node.source),
            CallExpression: ({ node }) => {
              const callee = node.callee;
              if (t.isImport(callee) || t.isIdentifier(callee, { name: 'require' })) later(node.arguments[0]);
              // A path that is only looked up is used all the same: the bundle's entry is named so.
              if (t.isMemberExpression(callee) && t.isIdentifier(callee.object, { name: 'require' })) later(node.arguments[0]);
            },
          });
          program.node.body = found;
          program.node.directives = [];
        },
      },
    },
  };
}

module.exports = { babelrc: false, configFile: false, comments: false, plugins: [importsAsWritten] };
