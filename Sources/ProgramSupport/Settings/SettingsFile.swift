internal import EventLoop
internal import Glibc

/// A settings file of the user.
package struct SettingsFile: Sendable {
  /// Why the file cannot be used.
  package struct Refusal: Error, Equatable, CustomStringConvertible {
    package let description: String
  }

  /// The most bytes of a file.
  package static let limit = 1 << 20

  /// Nil if the environment names no directory.
  package let path: String?

  /// The file at `path`.
  package init(path: String?) { self.path = path }

  /// `focusd/focusd.conf` in the directory of the user's settings, or of the service that systemd started.
  package static var user: SettingsFile { SettingsFile(path: userPath(Environment.value)) }

  package static func userPath(_ variable: (String) -> String?) -> String? {
    func directory(_ name: String) -> String? { Environment.path(name, of: variable) }
    // systemd may name several, for several services.
    let own = directory("CONFIGURATION_DIRECTORY").flatMap { $0.split(separator: ":").first }.map(String.init)
    let config = directory("XDG_CONFIG_HOME") ?? directory("HOME").map { $0 + "/.config" }
    return (own ?? config.map { $0 + "/focusd" }).map { $0 + "/focusd.conf" }
  }

  /// What the file holds; nil if it does not exist.
  /// - Throws: `Refusal` if it cannot be read, is too long, or others may have written it.
  package func contents() throws(Refusal) -> [UInt8]? {
    guard let path else { return nil }
    // A pipe in its place must not keep the program waiting.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      let error = errno
      var status = stat()
      guard error == ENOENT, lstat(path, &status) != 0 else {
        let link = error == ENOENT ? ": it is a link to a file that is not there, or not visible to the service" : ""
        throw Refusal(description: "cannot be read: \(String(cString: strerror(error)))\(link)")
      }
      return nil
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw Refusal(description: "is not a regular file")
    }
    guard status.st_uid == geteuid() else { throw Refusal(description: "belongs to another user") }
    guard status.st_mode & S_IWOTH == 0 else {
      throw Refusal(description: "can be written by every user: 'chmod o-w' makes it safe")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= Self.limit {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Refusal(description: "cannot be read: \(String(cString: strerror(errno)))") }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
    throw Refusal(description: "has more than \(Self.limit >> 20) MiB")
  }
}
