import DBusTypes
import FocusClient
import FocusContract

/// The commands that run until something happens.
enum Watching {
  static func watch(_ call: Invocation) throws(CommandError) {
    let requests = try keys(call.operands)
    let format = try WatchFormat(call.options, keys: requests.count)
    let daemon = try call.connect()
    let path = try Bindings(daemon, call.options).path
    guard case .text = format.style, LiveView.isPossible else {
      let watcher = Watcher(daemon, path, requests) { (changes) throws(CommandError) in
        for change in changes { try Output.write(format.line(change)) }
      }
      watcher.endWithReader()
      try watcher.run()
      return
    }
    try watchLive(daemon, path, requests)
  }

  private static func watchLive(
    _ daemon: DaemonConnection, _ path: ObjectPath, _ requests: [KeyArgument]
  ) throws(CommandError) {
    var view: LiveView?
    let watcher = Watcher(daemon, path, requests) { (changes) throws(CommandError) in try view?.show(changes) }
    let opened = LiveView(requests.map(\.text), on: watcher.loop) { [weak watcher] in watcher?.stop($0) }
    view = opened
    try opened.open()
    defer { opened.close() }
    watcher.endWithReader()
    try opened.show([])
    try watcher.run()
  }

  static func wait(_ call: Invocation) throws(CommandError) {
    let requests = try keys(call.operands)
    // Here the option limits how long the key may be nil.
    let daemon = try call.connect(isTimed: false)
    let watcher = Watcher(daemon, Focus1.focused, requests) { (changes) throws(CommandError) in
      if changes.contains(where: { $0.value != nil }) { throw CommandError(.done) }
    }
    if let limit = try call.timeout() {
      watcher.end(
        after: limit, CommandError(.nothing, "'\(call.operands[0])' is still nil after \(Timeout.text(limit))"))
    }
    try watcher.run()
  }

  private static func keys(_ operands: [String]) throws(CommandError) -> [KeyArgument] {
    var keys: [KeyArgument] = []
    for operand in operands { keys.append(try KeyArgument(operand)) }
    return keys
  }
}
