package import TestSupport

extension Focus1 {
  /// Starts the daemon on `bus` and waits until it has its name.
  /// - Throws: `DeadlinePassed` where it takes none.
  package static func start(
    on bus: PrivateBus, extra: [String: String] = [:], prefix: [String] = []
  ) async throws -> ManagedProcess {
    let daemon = try await bus.start(
      prefix + [Products.focusd, "--verbose", "--address", bus.address], extra: extra)
    try await serves(daemon)
    return daemon
  }

  /// Waits until `daemon` says that it serves.
  /// - Throws: `DeadlinePassed` where it does not.
  package static func serves(_ daemon: ManagedProcess) async throws {
    _ = try await daemon.progress.wait(for: "daemon") { progress in
      progress.errors.contains { $0.hasSuffix("serving as \(name)") } || progress.exit != nil ? true : nil
    }
    guard daemon.progress.now.exit == nil else {
      throw CallError(name: nil, message: "the daemon does not serve: \(daemon.progress.now)")
    }
  }
}

/// A call that was answered with an error, or not at all.
package struct CallError: Error, Hashable, CustomStringConvertible {
  /// The error's name, or nil where there was no answer in time.
  package let name: String?
  package let message: String

  package init(name: String?, message: String) {
    self.name = name
    self.message = message
  }

  package var description: String { "\(name ?? "no answer"): \(message)" }

  /// Whether it tells that the daemon was not there to take the call, or went before it had answered.
  package var isAbsence: Bool {
    ["NoReply", "ServiceUnknown", "NameHasNoOwner"].map { "org.freedesktop.DBus.Error." + $0 }.contains(name)
  }
}
