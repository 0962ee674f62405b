// Runs files with tape and writes the failed assertions to a file, each after the name of its test.
const fs = require('fs')
const path = require('path')

// Before tape's own handler, which ends the process.
const failed = []
process.on('exit', () => fs.writeFileSync(process.env.LISTING, JSON.stringify(failed)))
const tape = require(require.resolve('tape', { paths: [process.cwd()] }))

const names = {}
const used = {}
tape.createStream({ objectMode: true }).on('data', (row) => {
  if (row.type === 'test') names[row.id] = row.name
  if (row.type !== 'assert' || row.ok || row.todo || row.skip) return
  const name = `${names[row.test]} > ${row.name}`
  used[name] = (used[name] || 0) + 1
  failed.push(used[name] > 1 ? `${name} (${used[name]})` : name)
})
process.argv.slice(2).forEach((file) => require(path.resolve(file)))
