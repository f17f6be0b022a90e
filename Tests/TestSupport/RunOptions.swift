internal import Foundation

/// Whether the programs that are tested carry a sanitizer, which keeps what was freed: then memory tells nothing.
package let isSanitized = ProcessInfo.processInfo.environment["FOCUSD_SANITIZED"] != nil

/// Whether the long runs were asked for, with `FOCUSD_SLOW=1`.
package let isSlow = ProcessInfo.processInfo.environment["FOCUSD_SLOW"] == "1"
