// The places of KafkaJS' options: each setting belongs to a call of the library, by role.

'use strict'

const { CompressionTypes, PartitionAssigners, Partitioners } = require('kafkajs')

const RETRY = ['retries', 'initialRetryTime', 'maxRetryTime', 'factor', 'multiplier']
const CLIENT = [
  'clientId',
  'logLevel',
  'connectionTimeout',
  'authenticationTimeout',
  'reauthenticationThreshold',
  'requestTimeout',
  'enforceRequestTimeout',
  ...RETRY.map((name) => `client.retry.${name}`),
]
const BOTH = ['metadataMaxAge', 'allowAutoTopicCreation', 'maxInFlightRequests', ...RETRY.map((name) => `retry.${name}`)]

/** The settings of each role by the call that takes them. */
const PLACES = {
  producer: {
    client: CLIENT,
    producer: [...BOTH, 'idempotent', 'transactionalId', 'transactionTimeout', 'createPartitioner'],
    send: ['acks', 'timeout', 'compression'],
  },
  consumer: {
    client: CLIENT,
    consumer: [
      ...BOTH,
      'groupId',
      'partitionAssigners',
      'sessionTimeout',
      'rebalanceTimeout',
      'heartbeatInterval',
      'maxBytesPerPartition',
      'minBytes',
      'maxBytes',
      'maxWaitTimeInMs',
      'readUncommitted',
      'rackId',
    ],
    subscribe: ['fromBeginning'],
    run: [
      'autoCommit',
      'autoCommitInterval',
      'autoCommitThreshold',
      'eachBatchAutoResolve',
      'partitionsConsumedConcurrently',
    ],
  },
}

const TEXTS = ['clientId', 'groupId', 'transactionalId', 'rackId']

/** Returns one of the values that a table has by name. */
function one(table, name, text) {
  const found = table[text.split('.').pop()]
  if (found === undefined) throw new Error(`${name}: unknown value ${text}`)
  return found
}

function value(name, text) {
  if (TEXTS.includes(name)) return text
  if (name === 'acks' && text === 'all') return -1
  if (name === 'createPartitioner') return one(Partitioners, name, text)
  if (name === 'compression' && !/^\d+$/.test(text)) return one(CompressionTypes, name, text)
  if (name === 'partitionAssigners') {
    return text.split(/[[\], ]+/).filter(Boolean).map((word) => one(PartitionAssigners, name, word))
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${name}: unknown value ${text}`)
  }
}

/** Returns the options of each call of a role: { client: {...}, producer: {...}, ... }. */
function options(role, settings) {
  const places = PLACES[role]
  const calls = Object.fromEntries(Object.keys(places).map((call) => [call, {}]))
  for (const [name, text] of settings) {
    const call = Object.keys(places).find((each) => places[each].includes(name))
    if (call === undefined) throw new Error(`a ${role} of this library has no setting ${name}`)
    const path = name.replace('client.retry.', 'retry.').split('.')
    const last = path.pop()
    let owner = calls[call]
    for (const part of path) owner = owner[part] ??= {}
    owner[last] = value(name, text)
  }
  return calls
}

module.exports = { options }
