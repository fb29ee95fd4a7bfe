// The line protocol of a client program: commands as JSON objects on the standard input, events on the standard output.
// checker/cluster/client.py is the other side.

'use strict'

const { createInterface } = require('node:readline')
const { writeSync } = require('node:fs')

const DEADLINE_SECONDS = 60

/** The error of a command that did not end in time. */
class TooLate extends Error {}

function say(event, fields = {}) {
  writeSync(1, JSON.stringify({ event, ...fields, at: Date.now() / 1000 }) + '\n')
}

/** Returns the two fields that tell an error, or its absence. */
function told(error) {
  return error === null ? { error: null, code: null } : { error: String(error.message), code: error.type || error.name }
}

/** Returns the fields that tell how a call ended. */
async function thrown(call) {
  try {
    await call()
    return told(null)
  } catch (error) {
    return told(error)
  }
}

/** Returns the value of a promise; throws TooLate after the command's "seconds", or after a minute. */
async function within(command, promise, what) {
  let timer
  const late = new Promise((_, reject) => {
    const seconds = command.seconds ?? DEADLINE_SECONDS
    timer = setTimeout(() => reject(new TooLate(`not yet: ${what}`)), seconds * 1000)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

function fail(command, error) {
  say('failed', { ...command, ...told(error) })
}

/**
 * Makes the client that the command line asks for, and runs its commands until "close", or the end of the input. Then
 * the program ends at once: without "close", nothing is flushed, committed or left. version: of the library.
 */
async function start(version, roles) {
  const [bootstrap, role, topic, ...pairs] = process.argv.slice(2)
  const settings = pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)])
  let methods
  try {
    methods = roles[role]({ bootstrap: bootstrap.split(','), topic, settings })
  } catch (error) {
    fail({ do: 'start' }, error)
    process.exit(1)
  }
  say('ready', { version })
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line)
    try {
      if (!(command.do in methods)) throw new Error(`this library's client has no command ${command.do}`)
      await methods[command.do](command)
      if (command.do === 'close') {
        say('closed')
        break
      }
    } catch (error) {
      fail(command, error)
    }
  }
  process.exit(0)
}

module.exports = { say, start, thrown, told, within }
