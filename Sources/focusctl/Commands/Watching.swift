import DBusTypes

/// The commands that go on until something happens.
enum Watching {
  static func watch(_ call: Invocation) throws(CommandError) {
    let requests = try keys(call.operands)
    let client = try call.connect()
    let path = try Bindings(client, call.options).path
    let format = WatchFormat(json: call.options.json, bare: requests.count == 1)
    let watcher = Watcher(client, path, requests) { (changes) throws(CommandError) in
      for change in changes { try Output.write(format.line(change)) }
    }
    watcher.endWithReader()
    try watcher.run()
  }

  static func wait(_ call: Invocation) throws(CommandError) {
    let requests = try keys(call.operands)
    try Watcher(try call.connect(), Focus1.focused, requests) { (changes) throws(CommandError) in
      if changes.contains(where: { $0.value != nil }) { throw CommandError(.done) }
    }.run()
  }

  private static func keys(_ operands: [String]) throws(CommandError) -> [KeyArgument] {
    var keys: [KeyArgument] = []
    for operand in operands { keys.append(try KeyArgument(operand)) }
    return keys
  }
}
