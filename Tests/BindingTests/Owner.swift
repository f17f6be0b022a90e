import TestSupport

/// The owner of fields, a process on GDBus; values and options are in GVariant's text form.
struct Owner: Sendable {
  let peer: GDBusPeer

  init(_ daemon: Daemon) async throws { peer = try await GDBusPeer(on: daemon.bus) }

  func register(_ id: String, _ values: String = "@a{sv} {}", _ options: String = "@a{sv} {}") async throws {
    try await peer.call(
      Daemon.name, Client.manager, "org.focusd.Focus1.Manager", "Register", "('\(id)', \(values), \(options))")
  }

  func field(_ id: String, _ member: String, _ arguments: String = "()") async throws {
    try await peer.call(Daemon.name, Client.path(id), "org.focusd.Focus1.Field", member, arguments)
  }
}
