package import DBus
internal import DBusTypes
internal import FocusContract
internal import Glibc

/// The daemon as its clients reach it: the connection to the bus that it is on.
package struct Daemon {
  package let connection: Connection
  /// How long it may take to answer.
  package let timeout: Duration

  /// Connects to `bus`, which may take `timeout` to answer, and without that as long as it likes; whether the daemon is on
  /// it is seen from the first call, each of which may take `timeout`, or 25 s.
  /// - Throws: `DBusError` where there is no such bus.
  package init(on bus: Connection.Bus, timeout: Duration? = nil) throws(DBusError) {
    connection = try Connection(to: bus, timeout: timeout)
    self.timeout = timeout ?? .seconds(25)
  }

  /// The user's session bus: that of the environment, else the user manager's, so that libdbus never starts one of its own;
  /// nil where the environment names neither.
  package static var sessionBus: Connection.Bus? {
    if let address = environment("DBUS_SESSION_BUS_ADDRESS") { return .address(address) }
    return environment("XDG_RUNTIME_DIR").map { .address("unix:path=\($0)/bus") }
  }

  private static func environment(_ name: String) -> String? {
    guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
    return value
  }

  /// Makes a call and waits for its reply.
  /// - Throws: `DBusError`: the daemon's error, what prevented a reply, or `failed` for one that is not the contract's.
  /// - Returns: what the reply says.
  @discardableResult
  package func call<Reply>(_ call: Call<Reply>) throws(DBusError) -> Reply {
    let message = try call.message()
    do {
      return try call.reply(in: try connection.call(message, timeout: timeout))
    } catch  where error.name == .noReply && connection.isConnected {
      throw DBusError(.noReply, "no reply to '\(call.member)' within \(timeout)")
    }
  }

  /// Makes a call and has `handler` called with what the reply says, or with what prevented one.
  ///
  /// That may be at once, and as late as when the connection goes.
  package func call<Reply>(_ call: Call<Reply>, _ handler: @escaping (Result<Reply, DBusError>) -> Void) {
    do throws(DBusError) {
      try connection.call(try call.message(), timeout: timeout) { result in
        handler(Result { () throws(DBusError) in try call.reply(in: try result.get()) })
      }
    } catch {
      handler(.failure(error))
    }
  }
}
